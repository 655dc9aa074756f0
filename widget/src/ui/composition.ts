/**
 * Makes a handler of keys that leaves those of an input method alone, as Enter is when it chooses a word.
 * Safari tells of some by the key code alone. Every handler of keys in the widget is made here.
 */
export function onKeys<Event extends KeyboardEvent>(handle: (event: Event) => void): (event: Event) => void {
  return (event) => {
    if (!event.isComposing && event.keyCode !== 229) handle(event);
  };
}
