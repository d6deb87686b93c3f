import {
  type FieldNode,
  getNamedType,
  getOperationAST,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  print,
  type SelectionSetNode,
} from "graphql";
import type { RestOperation } from "../../rest/routes/derivation.js";
import { addedFields } from "../constraints.js";
import { type Components, describeMember, inputSchema, named, typeSchema } from "../schemas.js";
import type { JsonSchema } from "../types.js";

export interface AnswerSchema {
  readonly schema: JsonSchema;
  /** Describes the object. */
  readonly content: string;
  /** Describes the operation. If it only answers with one field that has arguments, this is the field's description. */
  readonly description: string | null | undefined;
}

/**
 * Describes the answers of operations, by the fields that they select. Objects are named after their types. If answers have different
 * fields of a type, the first one gets the type's name, one with all fields is called full, and others are named after their operation
 * or field.
 */
export class AnswerDescriber {
  readonly #nameOf = objectNames();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly components: Components,
    private readonly operations: readonly RestOperation[],
  ) {}

  describe(operation: RestOperation): AnswerSchema {
    const { node, field, type } = rootFieldOf(this.schema, operation);
    const { operationId, shownOnDemand = [] } = operation;
    if (!isObjectType(type)) {
      const schema = inputSchema(type, this.components, this.operations);
      return { schema, content: "Done.", description: field.description };
    }
    const onDemand = shownOnDemand.flatMap(({ fields }) => fields);
    const [only, ...others] = node.selectionSet ? fieldsIn(node.selectionSet) : [];
    const isOfField = only !== undefined && others.length === 0 && (only.arguments?.length ?? 0) > 0;
    return {
      schema: this.#describeObject(type, node, capital(operationId.replace(/^(?:get|list)/u, "")), onDemand),
      content: type.description ?? "Done.",
      description: (isOfField ? fieldOf(type, only) : field).description,
    };
  }

  #describeObject(
    type: GraphQLObjectType,
    { selectionSet }: FieldNode,
    otherwise: string,
    onDemand: readonly string[] = [],
  ): JsonSchema {
    if (selectionSet === undefined) throw new Error(`${otherwise} has no fields.`);
    const name = this.#nameOf(type, selectionSet, otherwise);
    return named(this.components, name, () => {
      const nodes = fieldsIn(selectionSet);
      const properties = nodes.map((node) => {
        const field = fieldOf(type, node);
        const value = typeSchema(field.type, (inner) =>
          isObjectType(inner)
            ? this.#describeObject(inner, node, `${name}${capital(field.name)}`)
            : inputSchema(inner, this.components, this.operations),
        );
        return [field.name, { ...value, ...describeMember(field) }] as const;
      });
      return {
        type: "object",
        ...(type.description && { description: type.description }),
        // GraphQL answers with every selected field, even if it is null. We only omit fields that are shown on demand.
        required: nodes.map((node) => node.name.value).filter((field) => !onDemand.includes(field)),
        properties: { ...Object.fromEntries(properties), ...addedFields[type.name] },
      };
    });
  }
}

/** @throws {Error} if the schema does not have the field */
function rootFieldOf(schema: GraphQLSchema, { document, operationName, root, operation }: RestOperation) {
  const definition = getOperationAST(document, operationName);
  const [node] = definition ? fieldsIn(definition.selectionSet) : [];
  const rootType = root === "Query" ? schema.getQueryType() : schema.getMutationType();
  if (node === undefined || !rootType) throw new Error(`The schema has no ${root}.${operation}.`);
  const field = fieldOf(rootType, node);
  return { node, field, type: getNamedType(field.type) };
}

function objectNames() {
  const selections = new Map<string, string>();
  return (type: GraphQLObjectType, selectionSet: SelectionSetNode, otherwise: string): string => {
    const text = print(selectionSet);
    const names = [type.name, ...(isWhole(type, selectionSet) ? [`Full${type.name}`] : []), otherwise];
    const name = names.find((candidate) => (selections.get(candidate) ?? text) === text);
    if (name === undefined) throw new Error(`Answers with different fields would all be named ${otherwise}.`);
    selections.set(name, text);
    return name;
  };
}

/** The fields of an object in an answer. sofa-api's operations have neither fragments nor aliases. */
function fieldsIn({ selections }: SelectionSetNode): readonly FieldNode[] {
  return selections.filter((selection) => selection.kind === Kind.FIELD);
}

function fieldOf(type: GraphQLObjectType, { name: { value: name } }: FieldNode) {
  const field = type.getFields()[name];
  if (field === undefined) throw new Error(`${type.name} has no field ${name}.`);
  return field;
}

/** Whether all fields without arguments are selected; those with arguments have their own paths. */
function isWhole(type: GraphQLObjectType, selectionSet: SelectionSetNode): boolean {
  const selected = new Set(fieldsIn(selectionSet).map(({ name }) => name.value));
  return Object.values(type.getFields()).every(({ name, args }) => args.length > 0 || selected.has(name));
}

export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
