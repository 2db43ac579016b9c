/** A path served by the host, with its methods. */
export interface ServedPath {
  readonly template: string;
  readonly methods: readonly string[];
}

/** Finds the routes of a path, for requests that no route matched. */
export interface RouteFinder {
  /** Methods of the first route whose path matches; undefined if none does. */
  methodsAt(path: string): readonly string[] | undefined;
  /** Methods of every route whose path matches, without duplicates; empty if none does. */
  allMethodsAt(path: string): readonly string[];
}

/** Templates are tried in the order given. */
export function createRouteFinder(paths: readonly ServedPath[]): RouteFinder {
  const matchers = paths.map(({ template, methods }) => ({
    pattern: new RegExp(
      `^${template
        .split(/\{\w+\}/)
        .map(escapeRegExp)
        .join('[^/]+')}$`,
    ),
    methods,
  }));
  return {
    allMethodsAt(path) {
      const matching = matchers.filter((matcher) => matcher.pattern.test(path));
      return [...new Set(matching.flatMap((matcher) => matcher.methods))];
    },
    methodsAt: (path) => matchers.find((matcher) => matcher.pattern.test(path))?.methods,
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
