import {
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
} from "graphql";

/**
 * Counts about how many steps validation takes to find out whether fields with the same name in the answer can be merged:
 * GraphQL's rule for that compares in pairs all that meets in one place of the answer, fragments included. Operations are
 * followed through their fragments, so these must not be cyclic.
 *
 * @returns the definition with which the whole document takes more than `max`
 */
export function definitionBeyond({ definitions }: DocumentNode, max: number): ExecutableDefinitionNode | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const reached = new Set<string>();
  let comparisons = 0;

  /** @param sets that meet in one place */
  const count = (sets: readonly SelectionSetNode[]): void => {
    const meeting = [...sets];
    const spread = new Set<string>();
    const fields = new Map<string, FieldNode[]>();
    let selections = 0;
    const add = (set: SelectionSetNode): void => {
      selections += set.selections.length;
      for (const selection of set.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) add(selection.selectionSet);
        else if (selection.kind === Kind.FIELD) {
          const name = (selection.alias ?? selection.name).value;
          const same = fields.get(name);
          if (same === undefined) fields.set(name, [selection]);
          else same.push(selection);
        } else if (!spread.has(selection.name.value)) {
          spread.add(selection.name.value);
          reached.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment !== undefined) meeting.push(fragment.selectionSet);
        }
      }
    };
    for (const set of meeting) add(set); // with those that are found on the way
    comparisons += selections + pairs(meeting.length) + ((meeting.length - 1) * selections) / 2;
    for (const same of fields.values()) comparisons += pairs(same.length);
    for (const same of fields.values()) {
      if (comparisons > max) return;
      const within = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (within.length > 0) count(within);
    }
  };
  const isBeyond = ({ selectionSet }: ExecutableDefinitionNode): boolean => {
    count([selectionSet]);
    return comparisons > max;
  };
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  // Fragments that no operation spreads are validated, too.
  return (
    operations.find(isBeyond) ??
    [...fragments.values()].find((fragment) => !reached.has(fragment.name.value) && isBeyond(fragment))
  );
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
