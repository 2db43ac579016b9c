/** An iterator that gets its chunks from `next`, and is ended as `inner` is. */
export function chunksOf(
  inner: AsyncIterator<Uint8Array>,
  next: () => Promise<IteratorResult<Uint8Array>>,
): AsyncIterator<Uint8Array> {
  const outer: AsyncIterator<Uint8Array> = { next };
  if (inner.return !== undefined)
    outer.return = (value) => inner.return?.(value) ?? Promise.resolve({ done: true, value });
  if (inner.throw !== undefined) outer.throw = (error) => inner.throw?.(error) ?? Promise.reject(error);
  return outer;
}
