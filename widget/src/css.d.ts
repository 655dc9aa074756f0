/** Text of a style sheet, minified by the build. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}
