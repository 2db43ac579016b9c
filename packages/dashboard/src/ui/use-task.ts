import { useEffect, useRef, useState } from 'react';

/** Does something that takes its time, and reports how it is. */
type Task<State, Input extends readonly unknown[]> = (
  report: (state: State) => void,
  signal: AbortSignal,
  ...input: Input
) => Promise<void>;

/** The state of a task, and what starts and cancels it. It ends with the page. */
export function useTask<State, Input extends readonly unknown[]>(idle: State, task: Task<State, Input>) {
  const [state, setState] = useState(idle);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = (...input: Input): void => {
    stop.current = new AbortController();
    void task(setState, stop.current.signal, ...input);
  };
  return { state, start, cancel: () => stop.current?.abort() };
}
