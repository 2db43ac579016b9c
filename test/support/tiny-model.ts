import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A member of a message of protobuf: its number, and its value. Texts, bytes and messages are all bytes. */
type Member = readonly [number, number | string | Uint8Array | Message];
type Message = readonly Member[];

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

function encode(message: Message): Uint8Array {
  const bytes = message.flatMap(([number, value]) => {
    if (typeof value === 'number') return [...varint(number * 8), ...varint(value)];
    const content =
      typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : encode(value);
    return [...varint(number * 8 + 2), ...varint(content.length), ...content];
  });
  return Uint8Array.from(bytes);
}

const FLOAT = 1;
const INT64 = 7;

const node = (
  op: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly Message[] = [],
): Member => [
  1,
  [
    ...inputs.map((input): Member => [1, input]),
    [2, output],
    [4, op],
    ...attributes.map((attribute): Member => [5, attribute]),
  ],
];
const tensor = (name: string, dims: readonly number[], values: readonly number[]): Member => [
  5,
  [
    ...dims.map((dim): Member => [1, dim]),
    [2, FLOAT],
    [8, name],
    [9, new Uint8Array(Float32Array.from(values).buffer)],
  ],
];
const value = (name: string, type: number, dims: readonly (number | string)[]): Message => [
  [1, name],
  [
    2,
    [
      [
        1,
        [
          [1, type],
          [2, dims.map((dim): Member => [1, [[typeof dim === 'number' ? 1 : 2, dim]]])],
        ],
      ],
    ],
  ],
];

/** The words that the tiny model knows; their numbers are their tokens. */
const WORDS = ['[UNK]', '[CLS]', '[SEP]', 'please', 'ignore', 'instructions', 'weather', 'today'];
/** For each word, how much it speaks for SAFE and for INJECTION. */
const WEIGHTS = [
  [0, 0],
  [0, 0],
  [0, 0],
  [1, 0],
  [0, 8],
  [0, 8],
  [8, 0],
  [8, 0],
];

/** A classifier of bags of words (onnx.proto of ONNX 1.16, opset 13): mean of embeddings, times the identity. */
export function tinyModel(): Uint8Array {
  const graph: Message = [
    node('Gather', ['embeddings', 'input_ids'], 'words'),
    node('ReduceMean', ['words'], 'mean', [
      [
        [1, 'axes'],
        [8, 1],
        [20, 7],
      ],
      [
        [1, 'keepdims'],
        [3, 0],
        [20, 2],
      ],
    ]),
    node('MatMul', ['mean', 'identity'], 'logits'),
    [2, 'tiny'],
    tensor('embeddings', [WORDS.length, 2], WEIGHTS.flat()),
    tensor('identity', [2, 2], [1, 0, 0, 1]),
    [11, value('input_ids', INT64, ['batch', 'length'])],
    [12, value('logits', FLOAT, ['batch', 2])],
  ];
  return encode([
    [1, 8],
    [7, graph],
    [
      8,
      [
        [1, ''],
        [2, 13],
      ],
    ],
  ]);
}

const TOKENIZER = {
  version: '1.0',
  added_tokens: [],
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [1], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [2], tokens: ['[SEP]'] },
    },
  },
  decoder: null,
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(WORDS.map((word, index) => [word, index])),
    unk_token: '[UNK]',
  },
};

/** Writes a model with windows of 16 tokens into a folder; `files` replaces its files, and null leaves one out. */
export function writeTinyModel(folder: string, files: Readonly<Record<string, string | null>> = {}): string {
  mkdirSync(folder, { recursive: true });
  const all: Record<string, string | Uint8Array | null> = {
    'model.onnx': tinyModel(),
    'tokenizer.json': JSON.stringify(TOKENIZER),
    'config.json': JSON.stringify({ id2label: { 0: 'SAFE', 1: 'INJECTION' }, max_position_embeddings: 16 }),
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    if (content !== null) writeFileSync(path.join(folder, name), content);
  }
  return folder;
}
