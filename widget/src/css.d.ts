/** Text of a style sheet, which the build has minified. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}
