import type { DescMethod } from '@bufbuild/protobuf';
import { useSyncExternalStore } from 'react';
import { errorText } from '../ui/error-text.js';

/** A change that was made, and how to take it back. */
export interface UndoOffer {
  /** What happened, for example `no-card-numbers was switched off.` */
  readonly text: string;
  /** The RPC whose effects are read again after the undo. */
  readonly change: DescMethod;
  /** Takes it back. Returns what is to be said of it. */
  readonly undo: () => Promise<UndoResult>;
}

/** What an undo has led to. */
export interface UndoResult {
  readonly text: string;
  /** The page of what is there again. */
  readonly href?: string;
}

export interface Toast extends UndoOffer {
  readonly id: number;
  readonly state: 'offered' | 'running' | 'done' | 'failed';
  /** Once it is done or has failed. */
  readonly result: UndoResult | null;
}

const MAX_TOASTS = 3;

let toasts: readonly Toast[] = [];
let offers = 0;
const watchers = new Set<() => void>();

function publish(next: readonly Toast[]): void {
  toasts = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function change(id: number, part: Partial<Toast>): void {
  publish(toasts.map((toast) => (toast.id === id ? { ...toast, ...part } : toast)));
}

/** Offers to take a change back, on whatever page one is then. */
export function offerUndo(offer: UndoOffer): void {
  offers += 1;
  publish([...toasts, { ...offer, id: offers, state: 'offered' as const, result: null }].slice(-MAX_TOASTS));
}

export function dismissToast(id: number): void {
  publish(toasts.filter((toast) => toast.id !== id));
}

/** For when another caller comes. */
export function dismissAllToasts(): void {
  publish([]);
}

/** Takes a change back. What stands in the way of that is said in its place. */
export async function runUndo(toast: Toast): Promise<void> {
  if (toast.state === 'running' || toast.state === 'done') return;
  change(toast.id, { state: 'running', result: null });
  try {
    change(toast.id, { state: 'done', result: await toast.undo() });
  } catch (error) {
    change(toast.id, { state: 'failed', result: { text: `Not undone: ${errorText(error).detail}` } });
  }
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(watch, () => toasts);
}
