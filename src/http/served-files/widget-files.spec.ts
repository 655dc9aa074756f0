import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WidgetFiles } from './widget-files';

describe("the widget's files", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'messaging-widget-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const build = (...chunks: string[]) => {
    mkdirSync(join(folder, 'assets'));
    for (const name of ['v1.js', ...chunks.map((chunk) => `assets/${chunk}`)])
      writeFileSync(join(folder, name), name);
  };
  const textOf = async (files: WidgetFiles, fileName: string) => {
    const found = files.findChunk(fileName);
    return found && { text: String(await found.file.read('identity')), isExact: found.isExact };
  };

  it('are none without a build', async () => {
    const files = await WidgetFiles.read(join(folder, 'missing'));
    expect(files.loader).toBeNull();
    expect(files.findChunk('app-12345678.js')).toBeNull();
  });

  it('are found by their names', async () => {
    build('app-Ab_3-xYz.js', 'de-00000000.js');
    const files = await WidgetFiles.read(folder);
    expect(String(await files.loader!.read('identity'))).toBe('v1.js');
    expect(await textOf(files, 'app-Ab_3-xYz.js')).toEqual({ text: 'assets/app-Ab_3-xYz.js', isExact: true });
  });

  it('stand in for a chunk of the same name of another build, and for no other', async () => {
    build('app-Ab_3-xYz.js', 'pt-br-00000000.js');
    const files = await WidgetFiles.read(folder);
    expect(await textOf(files, 'app--_zZ09az.js')).toEqual({
      text: 'assets/app-Ab_3-xYz.js',
      isExact: false,
    });
    expect(await textOf(files, 'pt-br-11111111.js')).toEqual({
      text: 'assets/pt-br-00000000.js',
      isExact: false,
    });
    const others = ['apps-11111111.js', 'br-11111111.js', 'app-1234567.js', 'app-11111111.js.map', 'app', ''];
    for (const fileName of [...others, '../v1.js', '__proto__', 'constructor-11111111.js'])
      expect(files.findChunk(fileName)).toBeNull();
  });
});
