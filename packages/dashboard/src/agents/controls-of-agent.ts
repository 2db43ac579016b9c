import { fromBinary } from '@bufbuild/protobuf';
import { type AgentControl, WatchControlsResponseSchema } from '@gen/enforcement/v1/agent_service_pb.js';

/** The controls of an agent, put together from the messages of WatchControls. */
export class ControlsOfAgent {
  /** By id descending. Undefined until all of them are known. */
  controls: readonly AgentControl[] | undefined;
  /** Revision of the controls. */
  revision: bigint | undefined;
  /** A message that is not complete yet, applied to the controls. */
  #unfinished: { readonly known: Map<number, AgentControl>; readonly isFull: boolean } | undefined;

  /** The next message is no continuation. */
  restart(): void {
    this.#unfinished = undefined;
  }

  /**
   * Applies a message in its binary form. Returns whether the controls are complete now. Changes up to the own revision
   * are ignored: streams that are shared repeat them.
   */
  apply(bytes: Uint8Array): boolean {
    const { news, revision, incomplete } = fromBinary(WatchControlsResponseSchema, bytes);
    if (news.case === 'full') this.#unfinished = { known: new Map(), isFull: true };
    const before = (this.controls ?? []).map((control) => [control.id, control] as const);
    this.#unfinished ??= { known: new Map(before), isFull: false };
    const { known, isFull } = this.#unfinished;
    if (news.case === 'full') {
      for (const control of news.value.controls) known.set(control.id, control);
    } else if (news.case === 'changed') {
      for (const id of news.value.removed) known.delete(id);
      for (const control of news.value.upserted) known.set(control.id, control);
    }
    if (incomplete) return false;
    this.#unfinished = undefined;
    if (isFull || (this.revision !== undefined && revision > this.revision)) {
      this.controls = [...known.values()].sort((a, b) => b.id - a.id);
      this.revision = revision;
    }
    return this.controls !== undefined;
  }
}
