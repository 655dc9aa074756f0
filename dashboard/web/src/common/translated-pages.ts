/**
 * Makes React tolerate a browser's page translator, which replaces text nodes that React knows. Removing a
 * replaced node then does nothing. Inserting before a replaced node appends to the parent.
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
