type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** A member without a value is no member of what is stored. */
export function withoutUndefined<T extends object>(members: T): Partial<Given<T>> {
  const given: Partial<T> = { ...members };
  for (const key in given) if (given[key] === undefined) delete given[key];
  return given as Partial<Given<T>>;
}
