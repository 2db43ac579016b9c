import type { parse } from '@bufbuild/cel';
import type { ProblemList, Span } from './problem.js';
import { CelBytes, CelUint, doubleValue, plainInt, type Value } from './values.js';

type ParsedExpression = ReturnType<typeof parse>;
/** An expression of the official tree (`cel.expr.Expr`). */
export type Expr = NonNullable<ParsedExpression['expr']>;
export type Comprehension = Extract<Expr['exprKind'], { case: 'comprehensionExpr' }>['value'];
type Constant = Extract<Expr['exprKind'], { case: 'constExpr' }>['value'];

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** The value of a constant. One that exceeds its type is a problem at `span`. */
export function constantValue({ constantKind }: Constant, span: Span, problems: ProblemList): Value {
  switch (constantKind.case) {
    case 'int64Value': {
      const value = constantKind.value;
      if (value < MIN_INT || value > MAX_INT) problems.add('syntax', span, 'the integer exceeds 64 bits');
      return plainInt(value);
    }
    case 'uint64Value':
      if (constantKind.value > MAX_UINT) problems.add('syntax', span, 'the integer exceeds 64 bits');
      return new CelUint(constantKind.value);
    case 'doubleValue':
      return doubleValue(constantKind.value);
    case 'stringValue':
    case 'boolValue':
      return constantKind.value;
    case 'bytesValue':
      return new CelBytes(constantKind.value);
    default:
      return null;
  }
}

export function need<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the tree of the expression lacks a part');
  return part;
}

export function argsOf(expr: Expr): readonly Expr[] {
  return expr.exprKind.case === 'callExpr' ? expr.exprKind.value.args : [];
}

export function callName(expr: Expr): string {
  return expr.exprKind.case === 'callExpr' ? expr.exprKind.value.function : '';
}

export function itemsOf(expr: Expr): readonly Expr[] {
  return expr.exprKind.case === 'listExpr' ? expr.exprKind.value.elements : [];
}

export function nameOf(expr: Expr): string | null {
  return expr.exprKind.case === 'identExpr' ? expr.exprKind.value.name : null;
}
