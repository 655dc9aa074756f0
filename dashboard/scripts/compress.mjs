// Writes a `.br` and a `.gz` file for each file of the built page that gets smaller: compressing at each
// request would cost more.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('../dist/web/', import.meta.url));
const SHRINKS = /\.(?:js|css|svg|json|txt)$/;

for (const name of readdirSync(FOLDER, { recursive: true })) {
  const file = join(FOLDER, name);
  if (!SHRINKS.test(name) || !statSync(file).isFile()) continue;
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}
