/** Most characters of a name that the server stores. */
const MAX_CHARACTERS = 255;
/** Most characters of an ending, such as `.pdf`, that a shortened name keeps. */
const MAX_ENDING = 16;

/** Returns a name that the server stores: shortened before its ending, and never empty. */
export function nameToStore(name: string): string {
  const characters = [...name.trim()];
  if (characters.length === 0) return 'file';
  if (characters.length <= MAX_CHARACTERS) return characters.join('');
  const dot = characters.lastIndexOf('.');
  const ending = dot > 0 && characters.length - dot <= MAX_ENDING ? characters.slice(dot) : [];
  return [...characters.slice(0, MAX_CHARACTERS - ending.length), ...ending].join('');
}
