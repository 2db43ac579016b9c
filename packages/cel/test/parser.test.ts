import { describe, expect, it } from 'vitest';
import { childrenOf, type Node } from '../src/ast.js';
import { parseExpression } from '../src/parse-text.js';
import { allTests } from './conformance.support.js';

/** The texts of all nodes, outermost first. */
function texts(text: string): string[] {
  const { tree } = parseExpression(text);
  const found: string[] = [];
  const visit = (node: Node): void => {
    found.push(text.slice(node.start, node.end));
    for (const child of childrenOf(node)) visit(child);
  };
  if (tree !== null) visit(tree);
  return found;
}

describe('the range of a node', () => {
  it.each([
    ['(a + b) * c', ['(a + b) * c', 'a + b', 'a', 'b', 'c']],
    ['((a)).b', ['((a)).b', 'a']],
    ['f((a), -1)', ['f((a), -1)', 'a', '-1']],
    ['a.f( b ).c', ['a.f( b ).c', 'a.f( b )', 'a', 'b']],
    ['a[b[0]]', ['a[b[0]]', 'a', 'b[0]', 'b', '0']],
    ['has(a.b) && c', ['has(a.b) && c', 'has(a.b)', 'a', 'c']],
    ['a && (b && c) && d', ['a && (b && c) && d', 'a', 'b && c', 'b', 'c', 'd']],
    ['a ? (b) : c', ['a ? (b) : c', 'a', 'b', 'c']],
    ['a.all(x, x > 1)', ['a.all(x, x > 1)', 'a', 'x > 1', 'x', '1']],
    ['a.all(k, v, k > v)', ['a.all(k, v, k > v)', 'a', 'k > v', 'k', 'v']],
    ['[a, "x"][0]', ['[a, "x"][0]', '[a, "x"]', 'a', '"x"', '0']],
    ['{"a": b}', ['{"a": b}', '"a"', 'b']],
    ['!(a in b)', ['!(a in b)', 'a in b', 'a', 'b']],
    ['math.abs(a) // end', ['math.abs(a)', 'a']],
    ['cel.bind(x, a, x + 1)', ['cel.bind(x, a, x + 1)', 'a', 'x + 1', 'x', '1']],
  ])('is that of its text: %s', (text, expected) => {
    expect(texts(text)).toEqual(expected);
  });

  it('encloses those of its parts, in every expression of the specification', () => {
    let nodes = 0;
    const check = (node: Node, text: string): void => {
      nodes += 1;
      expect(node.start, text).toBeGreaterThanOrEqual(0);
      expect(node.end, text).toBeLessThanOrEqual(text.length);
      expect(node.start, text).toBeLessThan(node.end);
      for (const child of childrenOf(node)) {
        expect(child.start, text).toBeGreaterThanOrEqual(node.start);
        expect(child.end, text).toBeLessThanOrEqual(node.end);
        check(child, text);
      }
    };
    for (const { test } of allTests()) {
      const { tree } = parseExpression(test.original.expr);
      if (tree !== null) check(tree, test.original.expr);
    }
    expect(nodes).toBeGreaterThan(5_000);
  });
});
