import { setFlagsFromString } from 'node:v8';

/**
 * Removes the `__proto__` accessor from every object, before anything else runs. Libraries that store members
 * by plain assignment (such as protobuf-es) would otherwise let a member of that name change the prototype of
 * an object instead of being data: lost, and invisible to every control. `{ __proto__: … }` literals and
 * `Object.setPrototypeOf` still work. The same as Node's `--disable-proto=delete`.
 */
Reflect.deleteProperty(Object.prototype, '__proto__');

/**
 * Node 20 can crash the whole process when a function that calls WebAssembly is optimised and then
 * deoptimised during such a call ("unreachable code" in DoComputeBuiltinContinuation). The SQL parser is
 * WebAssembly; not inlining its calls costs it little and the service nothing.
 */
if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-turbo-inline-js-wasm-calls');
