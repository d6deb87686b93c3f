import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests of processes use little of the embedded engines, which others share: run at the same time, both cores are used. */
const ofProcesses = /\/test\/process\//u;

/** Spreads tests of processes among the others, the longest first, in one project after the other. */
export class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the sequencer, not of an array
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((each) => spread(sorted.filter(({ project }) => project === each)));
  }
}

function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const isOfProcesses = ({ moduleId }: TestSpecification) => ofProcesses.test(moduleId);
  const processes = files.filter(isOfProcesses);
  const others = files.filter((file) => !isOfProcesses(file));
  const step = others.length / Math.max(1, processes.length);
  return processes
    .flatMap((file, index) => [file, ...others.slice(Math.floor(index * step), Math.floor((index + 1) * step))])
    .concat(processes.length === 0 ? others : []);
}
