import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

const WIDTH_BEFORE_LAYOUT = 800;

/** The width of an element in pixels, as it changes. */
export function useWidth<T extends Element>(): readonly [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(WIDTH_BEFORE_LAYOUT);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = (): void => setWidth(Math.max(1, Math.floor(current.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
