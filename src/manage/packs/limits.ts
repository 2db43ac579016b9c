/** Most controls of a pack. */
export const MAX_PACK_CONTROLS = 200;
