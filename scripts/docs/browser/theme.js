// Sets the colours that the reader has chosen before the page is drawn.
try {
  const theme = localStorage.getItem('docs-theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // A browser that refuses storage shows the colours of its system.
}
