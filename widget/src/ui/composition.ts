/**
 * Makes a handler of keys that ignores the keys of an input method, such as an Enter that chooses a word.
 * Safari marks some of them by the key code alone. Every handler of keys in the widget is made here.
 */
export function onKeys<Event extends KeyboardEvent>(handle: (event: Event) => void): (event: Event) => void {
  return (event) => {
    if (!event.isComposing && event.keyCode !== 229) handle(event);
  };
}
