/**
 * Keeps React from failing in a page that the browser translates: a translator puts other elements in the
 * place of texts that React knows. An element that React then removes is gone already, and one that it
 * inserts before such a text comes at the end.
 */
export function tolerateTranslators(): void {
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    if (child.parentNode === this) (child as Node as ChildNode).remove();
    return child;
  };
  Node.prototype.insertBefore = function <Child extends Node>(
    this: Node,
    node: Child,
    next: Node | null,
  ): Child {
    if (next?.parentNode === this) (next as ChildNode).before(node);
    else this.appendChild(node);
    return node;
  };
}
