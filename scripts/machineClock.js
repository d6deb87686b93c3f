// A rule of oxlint for tests that run while somebody works: they neither sleep nor read the machine's clock, since a busy machine
// would then decide what they find. Time is moved by test/support/clock.ts, and events are waited for by test/support/until.ts.

const asked = new Set(["performance.now", "Date.now"]);
const timers = new Set(["setTimeout", "setInterval"]);
const advice = "Move the clock with test/support/clock.ts, or wait for an event with test/support/until.ts.";

const rule = {
  create(context) {
    if (context.sourceCode.text.startsWith("// @tier long")) return {};
    return {
      CallExpression(node) {
        const { callee } = node;
        if (callee.type === "Identifier" && timers.has(callee.name)) {
          context.report({ node, message: `A test does not wait for a time. ${advice}` });
        }
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return;
        if (!asked.has(`${callee.object.name}.${callee.property.name}`)) return;
        context.report({ node, message: `A test does not read the machine's clock. ${advice}` });
      },
      ImportDeclaration(node) {
        if (!/^(?:node:)?timers(?:\/promises)?$/.test(node.source.value)) return;
        context.report({ node, message: `A test does not wait for a time. ${advice}` });
      },
    };
  },
};

export default { meta: { name: "tests" }, rules: { "machine-clock": rule } };
