// A rule of oxlint: every regular expression takes time that is linear in the length of its input, as recheck finds it.
import { checkSync } from "recheck";

/** Bounded by steps alone: limits of time would have other results on a busy machine. */
const limits = { timeout: null, incubationTimeout: null, attackTimeout: null };

const rule = {
  create: (context) => ({
    Literal(node) {
      if (node.regex === undefined || node.regex === null) return;
      const problem = problemOf(node.regex.pattern, node.regex.flags);
      if (problem !== undefined) context.report({ node, message: problem });
    },
    NewExpression: (node) => reportMade(context, node),
    CallExpression: (node) => reportMade(context, node),
  }),
};

function problemOf(pattern, flags) {
  const { status, complexity, attack, error } = checkSync(pattern, flags, limits);
  if (status === "safe") return undefined;
  if (status === "unknown") return `recheck cannot tell how long this takes: ${error.kind}.`;
  return `This does not take linear time, but ${complexity.summary}, as for ${attack.pattern}.`;
}

function reportMade(context, node) {
  if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp") return;
  context.report({ node, message: "Only regular expressions that are written as literals are checked." });
}

export default { meta: { name: "vitrine" }, rules: { "linear-patterns": rule } };
