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
  /** Of the object. */
  readonly content: string;
  /** Of the operation: that of its only field with arguments, where it answers with nothing else. */
  readonly description: string | null | undefined;
}

/**
 * Describes operations' answers, by the fields that they ask for. Objects are named after their types. Where answers differ in
 * the fields of a type, the first one has its name, one with all fields is called full, and any other has the name of the
 * operation or of the field that it is the value of.
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
        // GraphQL answers with every field that was asked for, be it null: none but those on demand is ever left out.
        required: nodes.map((node) => node.name.value).filter((field) => !onDemand.includes(field)),
        properties: { ...Object.fromEntries(properties), ...addedFields[type.name] },
      };
    });
  }
}

/** @throws {Error} for a field that the schema does not have */
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

/** The fields that an object of an answer has: sofa-api's operations have neither fragments nor aliases. */
function fieldsIn({ selections }: SelectionSetNode): readonly FieldNode[] {
  return selections.filter((selection) => selection.kind === Kind.FIELD);
}

function fieldOf(type: GraphQLObjectType, { name: { value: name } }: FieldNode) {
  const field = type.getFields()[name];
  if (field === undefined) throw new Error(`${type.name} has no field ${name}.`);
  return field;
}

/** Whether all fields are there but those with arguments, which have paths of their own. */
function isWhole(type: GraphQLObjectType, selectionSet: SelectionSetNode): boolean {
  const selected = new Set(fieldsIn(selectionSet).map(({ name }) => name.value));
  return Object.values(type.getFields()).every(({ name, args }) => args.length > 0 || selected.has(name));
}

export function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
