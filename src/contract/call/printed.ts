import type { Principal } from './handler.js';

/** The caller as replies and records name it: by its name, else by the fingerprint of its key, else by its level. */
export function callerName({ name, keyFingerprint, level }: Principal): string {
  return name ?? keyFingerprint ?? level;
}

/** Milliseconds since 1970 as RFC 3339 in UTC, to the millisecond; null for no time. */
export function isoOf(ms: number): string;
export function isoOf(ms: number | null): string | null;
export function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Seconds since 1970 as RFC 3339 in UTC, to the second; null for no time. */
export function isoOfSeconds(seconds: number): string;
export function isoOfSeconds(seconds: number | null | undefined): string | null;
export function isoOfSeconds(seconds: number | null | undefined): string | null {
  return seconds == null ? null : `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
