import { setFlagsFromString } from 'node:v8';

/**
 * Takes the `__proto__` accessor away from every object, before anything else runs. Libraries that store members by
 * plain assignment (protobuf-es among them) would otherwise let a member of that name change the prototype of an
 * object instead of being data: lost, and out of sight of every control. `{ __proto__: … }` literals and
 * `Object.setPrototypeOf` work as ever. The same as Node's `--disable-proto=delete`.
 */
Reflect.deleteProperty(Object.prototype, '__proto__');

/**
 * Node 20 can end the whole process when a function that calls WebAssembly is optimised and then deoptimised during
 * such a call ("unreachable code" in DoComputeBuiltinContinuation). The SQL parser is WebAssembly, so that calls are
 * not inlined costs it little and the service nothing.
 */
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-turbo-inline-js-wasm-calls');
