import {
  BOOLEAN,
  converted,
  inMs,
  integerIn,
  LIST,
  listWhere,
  numberIn,
  secret,
  TEXT,
  textLike,
  wordOf,
} from './config-readers.js';
import { setting } from './setting.js';

/** What is refused, or told in the log, although it could be served. */
export const STRICTNESS = {
  strictDefinitions: setting('SERVICE_STRICT_DEFINITIONS', false, BOOLEAN).help(
    'Refuse definitions and query parameters that would otherwise be accepted with warnings; a request can ask for it too.',
  ),
  agentsWithoutControls: setting('SERVICE_AGENTS_WITHOUT_CONTROLS', 'warn', wordOf('warn', 'deny')).help(
    'Steps of agents without an enabled control of the service: warn allows them with a line in the log, deny denies them.',
  ),
  stepSchemas: setting('SERVICE_STEP_SCHEMAS', 'warn', wordOf('off', 'warn', 'enforce')).help(
    'Steps are compared with the schemas that their agent registered: off does not, warn reports a difference, enforce denies the step. An administrator can set it for one agent too.',
  ),
  duplicateMembers: setting('SERVICE_DUPLICATE_MEMBERS', 'refuse', wordOf('refuse', 'last')).help(
    'JSON requests in which an object has a member twice: refused, or the last one counts. What then runs the step may read the other one.',
  ),
};

/** By how old controls an evaluation decides. */
export const FRESHNESS = {
  limits: {
    minRevisionWaitMs: setting('SERVICE_MIN_REVISION_WAIT_SECONDS', 2, inMs(numberIn(0, 60))).help(
      'Longest time an evaluation waits for the revision that its caller demands.',
    ),
    // At least twice the polling interval: with less, a healthy process would refuse.
    maxStalenessMs: setting('SERVICE_MAX_STALENESS_SECONDS', null, inMs(numberIn(2, 31_536_000, '60'))).help(
      'Refuse to evaluate by controls that were last known to be the latest longer ago than this. Not set: never refuse.',
    ),
  },
};

/** Most processes per custom evaluator: each has its own memory. */
const MAX_WORKERS = 64;

export const EVALUATORS = {
  evaluators: {
    modules: setting('SERVICE_EVALUATORS', '', LIST).help(
      'Custom evaluators, separated by commas: npm packages, or files and folders by paths that begin with ./ or /.',
    ),
    timeoutMs: setting('EVALUATOR_TIMEOUT_SECONDS', 30, inMs(numberIn(0.001, 3600))).help(
      'Time limit of an evaluator that states none.',
    ),
    workers: setting(
      'MAX_CONCURRENT_EVALUATIONS',
      3,
      converted(integerIn(1, 10_000), (checks) => Math.min(checks, MAX_WORKERS)),
    ).help('Checks of one custom evaluator at the same time, each in a process of its own; at most 64.'),
    cacheSize: setting('EVALUATOR_CACHE_SIZE', 10_000, integerIn(1, 10_000_000)).help(
      'Compiled evaluators kept for controls that no loaded agent has any more. Agents always share equal ones.',
    ),
    vendorApiKey: setting('VENDOR_API_KEY', null, secret(TEXT)).help(
      'Key of the external model evaluator, vendor.model. Without it, its controls cannot be evaluated.',
    ),
    vendorApiUrl: setting(
      'VENDOR_API_URL',
      null,
      textLike(/^https?:\/\/\S+$/, 'an http or https URL', 'https://models.example.com'),
    ).help('Endpoint of the external model evaluator; it is asked at /v1/score below this address.'),
    onnxModels: setting(
      'SERVICE_ONNX_MODELS',
      '',
      listWhere(
        (entry) => /^[A-Za-z0-9_.-]+=.+$/.test(entry),
        'NAME=FOLDER, separated by commas',
        'injection=/models/injection',
      ),
    ).help(
      'Models of the evaluator onnx, separated by commas, as NAME=FOLDER: folders with model.onnx, tokenizer.json and config.json.',
    ),
  },
};

/** Ready-made controls besides those of the service. */
export const PACKS = {
  packs: {
    folders: setting('SERVICE_PACKS', '', LIST).help(
      'Folders of packs besides those of the service, separated by commas: a folder with a file pack.yaml each, or a folder of such folders.',
    ),
  },
};
