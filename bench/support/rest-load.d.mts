/** Posts `body` to `path` `count` times, and resolves with the body of the last reply as soon as that has arrived. */
export function restLoad(
  url: string,
  path: string,
  body: string,
  count: number,
  connections?: number,
): Promise<Buffer>;
