import { useRef } from 'react';

/** Keys of the items of a list that move with them, so that an input keeps its focus when its item moves. */
export function useItemKeys(count: number): { current: number[] } {
  const keys = useRef<number[]>([]);
  const next = useRef(0);
  while (keys.current.length < count) {
    keys.current.push(next.current);
    next.current += 1;
  }
  keys.current.length = count;
  return keys;
}
