import { type FormEvent, useId, useState } from 'react';
import { TextField } from '../fields/fields.js';
import { type FixedRange, fixedRange, fixedTimes, type Range, timesAt } from './range.js';
import { readTypedTime, typedTime, zoneName } from './typed-time.js';

const DAY_MS = 86_400_000;

interface FixedRangeFormProps {
  readonly range: Range;
  /** Whether the beginning or the end can be left out. */
  readonly isOpenEnded: boolean;
  /** Most days between them. */
  readonly maxDays?: number;
  readonly onApply: (range: Range) => void;
}

/** The beginning and the end of a range as texts: hours from 0 to 23 whatever the browser's language. */
export function FixedRangeForm({ range, isOpenEnded, maxDays, onApply }: FixedRangeFormProps) {
  const [from, to] = useState(() => shownTimes(range))[0];
  const [fromText, setFrom] = useState(from);
  const [toText, setTo] = useState(to);
  const [problem, setProblem] = useState<string>();
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const read = readRange(fromText, toText, isOpenEnded, maxDays);
    if ('problem' in read) setProblem(read.problem);
    else onApply(fixedRange(read.fromMs, read.toMs));
  };
  return (
    <form className="range-form" onSubmit={submit} aria-label="From and to" aria-describedby={`${id}-zone`}>
      <TextField label="From" placeholder="2026-01-31 10:42:07" value={fromText} onChange={setFrom} />
      <TextField label="To" placeholder="now" value={toText} onChange={setTo} />
      <p className="muted" id={`${id}-zone`}>
        24 hours, in your zone, {zoneName()}. With a Z at the end: UTC.
      </p>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className="primary">
        Apply
      </button>
    </form>
  );
}

function shownTimes(range: Range): readonly [from: string, to: string] {
  const times: FixedRange = fixedTimes(range) ?? (range === '' ? NO_TIMES : timesAt(range, Date.now()));
  return [typedTime(times.fromMs), typedTime(times.toMs)];
}

const NO_TIMES: FixedRange = { fromMs: undefined, toMs: undefined };

function readRange(
  fromText: string,
  toText: string,
  isOpenEnded: boolean,
  maxDays = Number.POSITIVE_INFINITY,
): FixedRange | { readonly problem: string } {
  const from = readTypedTime(fromText);
  const to = readTypedTime(toText);
  if ('problem' in from) return { problem: `From: ${from.problem}` };
  if ('problem' in to) return { problem: `To: ${to.problem}` };
  if (isOpenEnded ? from.ms === undefined && to.ms === undefined : from.ms === undefined) {
    return { problem: 'A range needs a time from which it is.' };
  }
  const end = to.ms ?? (isOpenEnded ? undefined : Math.ceil(Date.now() / 60_000) * 60_000);
  if (from.ms !== undefined && end !== undefined) {
    if (from.ms >= end) return { problem: 'The range ends before it begins.' };
    if (end - from.ms > maxDays * DAY_MS) return { problem: `A range here has at most ${maxDays} days.` };
  }
  return { fromMs: from.ms, toMs: end };
}
