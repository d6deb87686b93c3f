import { getNullableType, type GraphQLSchema, isListType, type OperationDefinitionNode } from "graphql";
import type { JsonBody } from "../../lib/json/body.js";
import { type Arguments, bodyArguments, bodyMembers, withPathField } from "./bodyArguments.js";
import type { RestOperation } from "../routes/derivation.js";
import { type CheckParameters, noneBesideMembers, onlyParameters, parametersBesideFile } from "./checkParameters.js";
import { pathParameters, restBase, takesBody } from "../routes/route.js";
import { uploadArguments, urlArguments } from "./urlArguments.js";

export interface RestInput {
  /** The query string, without its question mark. */
  readonly search: string;
  /** Undefined where the operation takes no body, or the body is a file, which is in the context. */
  readonly body: JsonBody | undefined;
  readonly isUpload?: boolean;
  /** Checks the state that a write replaces: the answer to GET, or undefined where nothing is there. */
  readonly condition?: ((current: string | undefined) => void) | undefined;
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

const anyParameters: CheckParameters = () => undefined;

/** Takes the arguments that are not in the path. Reads of the contract ignore other parameters. */
function queryParameters(operation: RestOperation): CheckParameters {
  const inPath = pathParameters(operation);
  const inQuery = [...operation.parameters].filter(([name]) => !inPath.includes(name));
  const lists = inQuery.filter(([, { type }]) => isListType(getNullableType(type))).map(([name]) => name);
  const elsewhere = new Map(inPath.map((name) => [name, "is in the path"]));
  const ignoresOthers = operation.inContract === true && operation.root === "Query";
  return onlyParameters(
    inQuery.map(([name]) => name),
    { lists, elsewhere, ignoresOthers },
  );
}

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
    const check = queryParameters(operation);
    const read = urlArguments(route, schema, definition);
    return {
      read(segments, { search }) {
        if (search !== "") check(search);
        return { variables: read(segments, search) };
      },
      check: { file: anyParameters, members: anyParameters },
    };
  }
  const variables = definition.variableDefinitions ?? [];
  const inPath = pathParameters(operation);
  const isInPath = ({ variable }: (typeof variables)[number]) => inPath.includes(variable.name.value);
  const readPath = urlArguments(route, schema, { ...definition, variableDefinitions: variables.filter(isInPath) });
  const ofBody = { ...definition, variableDefinitions: variables.filter((variable) => !isInPath(variable)) };
  const known = bodyMembers(schema, ofBody, pathField);
  const readUpload = upload && uploadArguments(route, schema, ofBody, upload);
  const read: ReadArguments = (segments, { search, body, isUpload = false, isInBatches = false }) => {
    const ofPath = readPath(segments, "");
    if (isInBatches) return { variables: ofPath };
    if (isUpload && readUpload !== undefined) return { variables: { ...ofPath, ...readUpload(search) } };
    const { variables: inBody, ...args } = bodyArguments(body, known);
    const all = { ...args, variables: { ...inBody, ...ofPath } };
    return pathField === undefined ? all : withPathField(all, pathField, segments);
  };
  const members = noneBesideMembers(operation, known);
  return { read, check: { members, file: upload ? parametersBesideFile([...known.keys()], upload) : members } };
}
