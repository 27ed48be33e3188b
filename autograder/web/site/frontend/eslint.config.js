// What `make check-js` forbids in the scripts of the pages, besides what tsc finds, names that nobody defines included.
import js from "@eslint/js";

const RULES = [
  "array-callback-return", "eqeqeq", "no-else-return", "no-self-compare", "no-shadow", "no-template-curly-in-string",
  "no-unmodified-loop-condition", "no-unneeded-ternary", "no-unreachable-loop", "no-unused-expressions",
  "no-useless-return", "no-var", "object-shorthand", "prefer-const", "require-atomic-updates",
];
export default [js.configs.recommended, {
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: { "no-undef": "off", ...Object.fromEntries(RULES.map((rule) => [rule, "error"])) },
}];
