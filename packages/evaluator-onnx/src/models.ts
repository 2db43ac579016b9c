import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A model that the operator mounts. */
export interface Model {
  readonly name: string;
  /** Has model.onnx, tokenizer.json and config.json. */
  readonly folder: string;
  /** In order of the outputs of the model. */
  readonly labels: readonly string[];
}

/** Reads the labels of the models NAME=FOLDER. Throws with what is wrong, where, and what to do. */
export function readModels(entries: readonly string[]): ReadonlyMap<string, Model> {
  const models = new Map<string, Model>();
  for (const entry of entries) {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at);
    const folder = path.resolve(entry.slice(at + 1));
    if (at < 1 || entry.length === at + 1) {
      throw new Error(
        `SERVICE_ONNX_MODELS: ${JSON.stringify(entry)} must be a name and a folder, such as injection=/models/injection`,
      );
    }
    if (models.has(name)) throw new Error(`SERVICE_ONNX_MODELS: two models are named ${name}; rename one`);
    models.set(name, { name, folder, labels: labelsIn(name, path.join(folder, 'config.json')) });
  }
  return models;
}

function labelsIn(name: string, file: string): readonly string[] {
  const problem = (what: string): Error =>
    new Error(`SERVICE_ONNX_MODELS: model ${name}: ${file} ${what}; mount the folder as it was exported`);
  let config: unknown;
  try {
    config = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw problem(`cannot be read (${(error as Error).message})`);
  }
  const named = (config as { id2label?: unknown } | null)?.id2label;
  const entries = typeof named === 'object' && named !== null ? Object.entries(named) : [];
  const labels: string[] = [];
  for (const [id, label] of entries) labels[Number(id)] = String(label);
  const isComplete = labels.length === entries.length && entries.every(([id]) => /^\d+$/.test(id));
  if (labels.length === 0 || !isComplete) throw problem('has no id2label that numbers the labels from 0');
  return labels;
}
