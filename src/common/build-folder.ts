import { resolve } from 'node:path';

/** Folder of the built service. Tests, which are not compiled, use the last build. */
export const BUILD_FOLDER = resolve(__dirname, __filename.endsWith('.ts') ? '../../dist' : '..');
