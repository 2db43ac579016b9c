import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ExpressionValueSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import {
  type ExpressionNode,
  expressionTree,
  treeSize,
} from '../../../packages/dashboard/src/control-parts/expression-tree.js';

const EXPRESSION = "input.amount > 1000 && !input.to.endsWith('@a.b')";

/** The value of a part of the expression, found by its text. */
function value(text: string, from = 0) {
  const start = EXPRESSION.indexOf(text, from);
  return create(ExpressionValueSchema, { start, end: start + text.length, text, evaluated: true });
}

/** A tree as nested lists of texts. */
const texts = (nodes: readonly ExpressionNode[]): unknown =>
  nodes.map(({ value: { text }, inside }) => (inside.length === 0 ? text : [text, texts(inside)]));

describe('the values of sub-expressions', () => {
  it('are below the expression that contains them, in order of the text, without literals and whole parts of the step', () => {
    const values = [
      EXPRESSION,
      'input.amount > 1000',
      'input.amount',
      'input',
      '1000',
      "!input.to.endsWith('@a.b')",
      "input.to.endsWith('@a.b')",
      'input.to',
      "'@a.b'",
    ].map((text) => value(text));
    const tree = [
      [
        EXPRESSION,
        [
          ['input.amount > 1000', ['input.amount']],
          ["!input.to.endsWith('@a.b')", [["input.to.endsWith('@a.b')", ['input.to']]]],
        ],
      ],
    ];
    expect(texts(expressionTree(values))).toEqual(tree);
    expect(treeSize(expressionTree(values))).toBe(6);
    expect(texts(expressionTree([...values].reverse()))).toEqual(tree);
  });

  it('have each place once, as macros write several expressions for one text', () => {
    expect(texts(expressionTree([value(EXPRESSION), value('input.amount'), value('input.amount')]))).toEqual([
      [EXPRESSION, ['input.amount']],
    ]);
  });

  it('are beside each other where none contains the other', () => {
    expect(texts(expressionTree([value('input.amount'), value('input.to')]))).toEqual([
      'input.amount',
      'input.to',
    ]);
    expect(expressionTree([])).toEqual([]);
  });

  it('have the value of an expression that is a literal alone', () => {
    const literal = create(ExpressionValueSchema, { start: 0, end: 4, text: 'true', evaluated: true });
    expect(texts(expressionTree([literal]))).toEqual(['true']);
  });
});
