/** Stops the browser from leaving the page when a file or link is dropped onto it. */
export function keepPageOnDrop(): void {
  for (const type of ['dragover', 'drop'] as const)
    window.addEventListener(type, (event) => {
      const isForField = event.target instanceof Element && event.target.matches('textarea, input');
      if (hasFiles(event.dataTransfer) || !isForField) event.preventDefault();
    });
}

/** Reports whether a drag or drop contains files. Browsers reveal the files' names only on the drop. */
export function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes('Files') ?? false;
}
