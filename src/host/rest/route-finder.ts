/** A path the host serves, with the methods it takes there. */
export interface ServedPath {
  readonly template: string;
  readonly methods: readonly string[];
}

/** Tells what is served at a path, for requests that no route took. */
export interface RouteFinder {
  /** Methods of the first route whose path matches; undefined when none does. */
  methodsAt(path: string): readonly string[] | undefined;
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
    methodsAt: (path) => matchers.find((matcher) => matcher.pattern.test(path))?.methods,
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
