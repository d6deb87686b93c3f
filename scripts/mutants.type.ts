/** A fault that somebody who uses the service would notice: one line, in which a text is replaced by another. */
export interface Mutant {
  /** What is wrong. */
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly from: string;
  readonly to: string;
  /** How the paths of the nearest tests begin, where these are not in the folder of the same name in `test/`. */
  readonly tests?: readonly string[];
}
