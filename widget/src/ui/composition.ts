/**
 * Returns a handler that ignores key events of an input method, such as an Enter that selects a word. Safari
 * marks some of them only by key code 229. All key handlers of the widget must use this function.
 */
export function onKeys<Event extends KeyboardEvent>(handle: (event: Event) => void): (event: Event) => void {
  return (event) => {
    if (!event.isComposing && event.keyCode !== 229) handle(event);
  };
}
