/** The text is not JSON. */
export class JsonSyntaxError extends Error {
  /** Where reading failed, in characters (code points) from the start of the text; a byte order mark counts none. */
  readonly offset: number;

  /** `line` and `column` express the same, for display: both from 1, columns in characters. */
  constructor(offset: number, line: number, column: number) {
    super(`not JSON at line ${line}, column ${column}`);
    this.name = 'JsonSyntaxError';
    this.offset = offset;
  }
}

/** A number of the JSON exceeds the range of a double, which is the range of JSON in practice. */
export class JsonNumberError extends Error {
  /** Where the number begins, as in JsonSyntaxError. */
  readonly offset: number;

  constructor(offset: number) {
    super(`the number at character ${offset} is beyond the range of JSON numbers (up to 1.8e308)`);
    this.name = 'JsonNumberError';
    this.offset = offset;
  }
}

/** The JSON nests deeper than accepted, though a decoder could still read it. */
export class JsonTooDeepError extends Error {
  constructor(levels: number) {
    super(`JSON nests deeper than ${levels} levels`);
    this.name = 'JsonTooDeepError';
  }
}

/** An object of the JSON has a member more than once; readers differ in which one counts. */
export class JsonDuplicateError extends Error {
  /** Path of the member: names and indexes. */
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[]) {
    super('the JSON has a member more than once in an object, and readers differ in which one counts');
    this.name = 'JsonDuplicateError';
    this.path = path;
  }
}

/** The bytes cannot be decoded as JSON: wrong encoding, excessive nesting, overlong integers. */
export class JsonUndecodableError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'JsonUndecodableError';
  }
}

/** Decoding the JSON would take too long, though it is possible: too many values, or long integers. */
export class JsonTooLargeError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'JsonTooLargeError';
  }
}

/**
 * Creates an error without a stack trace. Capturing one costs more than an evaluation, and the trace of an
 * error about an invalid request is not used.
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
