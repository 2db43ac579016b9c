/** In CommonJS, where what is large can be loaded when it is used for the first time, so that bundlers see it. */
const load = () => {
  /** @type {unknown} Its own type has no codes, but any texts. */
  const metadata = require('libphonenumber-js/max/metadata');
  return {
    core: require('libphonenumber-js/core'),
    metadata: /** @type {import('libphonenumber-js/core').MetadataJson} */ (metadata),
  };
};

/** @type {ReturnType<typeof load> | undefined} */
let loaded;

/** The library of telephone numbers, and the numbering plans of all regions. */
exports.phoneLibrary = () => {
  loaded ??= load();
  return loaded;
};
