import type { Stage, Step } from '../../kernel/core/types.js';
import type { ControlDefinition } from '../controls/definition/definition.js';

/** A step with the expected result of a control. */
export interface PackCase {
  /** What the case is about. */
  readonly name: string;
  readonly step: Step;
  readonly stage: Stage;
  /** Whether the control must match; otherwise it must not, and without an error. */
  readonly matches: boolean;
}

/** A control of a pack. */
export interface PackControl {
  /** Unique in the pack. */
  readonly key: string;
  readonly title: string;
  /** What it protects from, and what not. */
  readonly reason: string;
  /** What of published lists it covers. */
  readonly references: readonly string[];
  readonly definition: ControlDefinition;
  readonly cases: readonly PackCase[];
}

/** What identifies and describes a pack. */
export interface PackHead {
  readonly name: string;
  /** By Semantic Versioning 2.0.0. */
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Ready-made controls for one purpose. */
export interface Pack extends PackHead {
  /** Whether it is part of the service. */
  readonly builtIn: boolean;
  /** By key ascending. */
  readonly controls: readonly PackControl[];
}
