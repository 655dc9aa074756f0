import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { print } from '../support/report';

const FOLDER = resolve(__dirname, '../../dashboard/dist/web');
const MAX_FIRST_LOAD = 240_000;
const MAX_PAGE = 60_000;
/** Files that every page needs, with the texts of one language. */
const BASE = ['index.html', 'src/i18n/texts-en.ts'];
/** Files of the frame around every page after the login. */
const FRAME = ['src/frame/app-frame.tsx', 'src/frame/workspace-frame.tsx'];
/** Parts that the frame loads while the page rests: they are there before another page is opened. */
const AT_REST = ['src/common/open-menu.tsx'];

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

/** Tests of the bytes that a browser loads, gzipped, as Vite's manifest lists them. */
describe("the dashboard's pages load", () => {
  const manifest = JSON.parse(readFileSync(resolve(FOLDER, '.vite/manifest.json'), 'utf8')) as Record<
    string,
    Chunk
  >;
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/.*-page\.tsx$/.test(name));

  function filesOf(...names: string[]): Set<string> {
    const files = new Set<string>();
    const visit = (name: string) => {
      const { file, css = [], imports = [] } = manifest[name]!;
      if (files.has(file)) return;
      for (const one of [file, ...css]) files.add(one);
      imports.forEach(visit);
    };
    names.forEach(visit);
    return files;
  }

  function sizeOf(files: Iterable<string>): number {
    return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(resolve(FOLDER, file))).length, 0);
  }

  it.each([
    ['the login', ['src/pages/login/login-page.tsx']],
    ['the inbox', [...FRAME, 'src/pages/inbox/inbox-page.tsx']],
  ])(`at most ${MAX_FIRST_LOAD / 1000} kB first, with %s`, (name, shown) => {
    const size = sizeOf(filesOf(...BASE, ...shown));
    print(`first load with ${name}: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(MAX_FIRST_LOAD);
  });

  it.each(pages)(`at most ${MAX_PAGE / 1000} kB more for %s`, (page) => {
    const before = filesOf(...BASE, ...(page.startsWith('src/pages/login/') ? [] : [...FRAME, ...AT_REST]));
    const more = [...filesOf(page)].filter((file) => !before.has(file));
    const size = sizeOf(more);
    print(`${page}: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(MAX_PAGE);
  });

  it('one page for each address', () => {
    expect(pages.length).toBeGreaterThanOrEqual(10);
  });
});
