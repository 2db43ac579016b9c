/** Causes can be nested, and nothing promises that they do not form a circle. */
const MAX_CAUSE_DEPTH = 8;

/** What Prisma, its adapters, drivers and Node.js tell in their errors; every member may be absent or another type. */
export interface ErrorShape {
  readonly code?: unknown;
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  readonly rawCode?: unknown;
  readonly extendedCode?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly meta?: { readonly driverAdapterError?: unknown };
}

/** An error and what caused it, outermost first. */
export function* errorChain(error: unknown, depth = 0): Generator<ErrorShape> {
  if (typeof error !== 'object' || error === null || depth > MAX_CAUSE_DEPTH) return;
  const shape = error as ErrorShape;
  yield shape;
  // Connecting to a name with several addresses fails with one error for each of them.
  if (Array.isArray(shape.errors)) for (const each of shape.errors) yield* errorChain(each, depth + 1);
  yield* errorChain(shape.cause, depth + 1);
  yield* errorChain(shape.meta?.driverAdapterError, depth + 1);
}

/** The codes that are texts: of Prisma, of Node.js, and SQLSTATEs. */
export function textCodesOf({ code, originalCode }: ErrorShape): string[] {
  return [code, originalCode].filter((each) => typeof each === 'string');
}

/** The extended result codes of SQLite. */
export function sqliteCodesOf({ rawCode, extendedCode }: ErrorShape): number[] {
  return [rawCode, extendedCode].filter((each) => typeof each === 'number');
}
