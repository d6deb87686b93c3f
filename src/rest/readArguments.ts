import type { GraphQLSchema, OperationDefinitionNode } from "graphql";
import type { JsonBody } from "../lib/json/body.js";
import { type Arguments, bodyArguments, bodyMembers, withPathField } from "./bodyArguments.js";
import type { RestOperation } from "./operations.js";
import { type CheckParameters, noneBesideMembers, parametersBesideFile } from "./parameters.js";
import { restBase, takesBody } from "./routes.js";
import { uploadArguments, urlArguments } from "./urlArguments.js";

export interface RestInput {
  /** The query string, without its question mark. */
  readonly search: string;
  /** Undefined where the operation takes no body, or the body is a file, which is in the context. */
  readonly body: JsonBody | undefined;
  readonly isUpload?: boolean;
  /** Whether the body is executed in batches: its items are no arguments yet. */
  readonly isInBatches?: boolean;
}

/** Reads the arguments of a call from its path parameters, still percent-encoded, its query string and its body. */
type ReadArguments = (segments: Readonly<Record<string, string>>, input: RestInput) => Arguments;

interface OperationArguments {
  readonly read: ReadArguments;
  /** Of a call with a body, before that is read: of one that is a file, or that has the arguments as its members. */
  readonly check: Readonly<Record<"file" | "members", CheckParameters>>;
}

/** Documented reads and deletions ignore what they do not know. */
const anyParameters: CheckParameters = () => undefined;

/**
 * Compiles the reader of an operation's arguments.
 *
 * @throws {Error} for an argument that cannot be written in the URL of a path without a body
 */
export function argumentReader(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  operation: RestOperation,
): OperationArguments {
  const { method, path, upload, pathField } = operation;
  const route = `${method} ${restBase}${path}`;
  if (!takesBody(operation)) {
    const read = urlArguments(route, schema, definition);
    return {
      read: (segments, { search }) => ({ variables: read(segments, search) }),
      check: { file: anyParameters, members: anyParameters },
    };
  }
  const variables = definition.variableDefinitions ?? [];
  const isInPath = ({ variable }: (typeof variables)[number]) => path.split("/").includes(`:${variable.name.value}`);
  const readPath = urlArguments(route, schema, { ...definition, variableDefinitions: variables.filter(isInPath) });
  const ofBody = { ...definition, variableDefinitions: variables.filter((variable) => !isInPath(variable)) };
  const known = bodyMembers(schema, ofBody, pathField);
  const readUpload = upload && uploadArguments(route, schema, ofBody, upload);
  const read: ReadArguments = (segments, { search, body, isUpload = false, isInBatches = false }) => {
    const inPath = readPath(segments, "");
    if (isInBatches) return { variables: inPath };
    if (isUpload && readUpload !== undefined) return { variables: { ...inPath, ...readUpload(search) } };
    const { variables: inBody, ...args } = bodyArguments(body, known);
    const all = { ...args, variables: { ...inBody, ...inPath } };
    return pathField === undefined ? all : withPathField(all, pathField, segments);
  };
  const members = noneBesideMembers(operation, known);
  return { read, check: { members, file: upload ? parametersBesideFile([...known.keys()], upload) : members } };
}
