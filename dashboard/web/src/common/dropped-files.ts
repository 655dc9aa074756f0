/**
 * Keeps the browser from leaving the page for a file or link that is dropped onto it. Fields still take
 * dropped texts.
 */
export function keepPageOnDrop(): void {
  for (const type of ['dragover', 'drop'] as const)
    window.addEventListener(type, (event) => {
      const isForField = event.target instanceof Element && event.target.matches('textarea, input');
      if (hasFiles(event.dataTransfer) || !isForField) event.preventDefault();
    });
}

/** Reports whether a drop or a drag has files, whose names only a drop tells. */
export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes('Files') ?? false;
}
