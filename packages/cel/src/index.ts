export { compileExpression, type InspectedExpression, inspectExpression } from './compile-expression.js';
export { completionsAt } from './completions.js';
export { type Conjunct, conjunctsOf, type MemberPath, type ReadingPart } from './conjuncts.js';
export { equalityText } from './equality-text.js';
export {
  MAX_BRACKET_DEPTH,
  MAX_EXPRESSION_LENGTH,
  MAX_MACRO_DEPTH,
  MAX_MADE_CHARACTERS,
  MAX_MADE_ITEMS,
  MAX_NODES,
  MAX_TRACED,
  MAX_WORK,
} from './limits.js';
export { ExpressionError } from './problem.js';
export { typeName, unionOf } from './type-relations.js';
export type * from './types.js';
