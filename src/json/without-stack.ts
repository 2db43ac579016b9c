/**
 * Makes an error without a stack trace. To capture one costs more than an evaluation, and that of an error which tells a
 * caller what is wrong with its request is read by no one.
 */
export function withoutStack<T>(make: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
