import type { GraphQLSchema } from "graphql";
import { createRestHandler, type RestHandler } from "./handler.js";
import { planRest, type RestPlan } from "./operations.js";

/** All of REST that follows from the schema alone. */
export interface PreparedRest extends RestPlan {
  readonly handler: RestHandler;
}

/** Takes most of the time that it takes to create an app, so that apps of one process can share it. */
export async function prepareRest(schema: GraphQLSchema): Promise<PreparedRest> {
  const plan = await planRest(schema);
  return { ...plan, handler: createRestHandler(schema, plan.operations) };
}
