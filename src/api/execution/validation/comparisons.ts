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
  const comparisons = new Comparisons(fragments, max);
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  // Fragments that no operation spreads are validated, too.
  return (
    operations.find((operation) => comparisons.isBeyond(operation)) ??
    [...fragments.values()].find(
      (fragment) => !comparisons.reached.has(fragment.name.value) && comparisons.isBeyond(fragment),
    )
  );
}

class Comparisons {
  /** The fragments that were followed. */
  readonly reached = new Set<string>();
  #count = 0;

  constructor(
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    private readonly max: number,
  ) {}

  /** Counts those of a definition too. */
  isBeyond({ selectionSet }: ExecutableDefinitionNode): boolean {
    this.#add([selectionSet]);
    return this.#count > this.max;
  }

  /** @param sets that meet in one place */
  #add(sets: readonly SelectionSetNode[]): void {
    const meeting = [...sets];
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    let selections = 0;
    for (const set of meeting) selections += this.#collect(set, fields, spread, meeting); // with those found on the way
    this.#count += selections + pairs(meeting.length) + ((meeting.length - 1) * selections) / 2;
    for (const same of fields.values()) this.#count += pairs(same.length);
    for (const same of fields.values()) {
      if (this.#count > this.max) return;
      const within = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (within.length > 0) this.#add(within);
    }
  }

  /** Collects fields by their names, and the sets of fragments. @returns how many selections there are */
  #collect(
    { selections }: SelectionSetNode,
    fields: Map<string, FieldNode[]>,
    spread: Set<string>,
    meeting: SelectionSetNode[],
  ): number {
    let count = selections.length;
    for (const selection of selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        count += this.#collect(selection.selectionSet, fields, spread, meeting);
      } else if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const same = fields.get(name);
        if (same === undefined) fields.set(name, [selection]);
        else same.push(selection);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        this.reached.add(selection.name.value);
        const fragment = this.fragments.get(selection.name.value);
        if (fragment !== undefined) meeting.push(fragment.selectionSet);
      }
    }
    return count;
  }
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2;
}
