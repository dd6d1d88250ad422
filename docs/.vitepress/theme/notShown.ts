// Stands for the parts of the theme that no page of this site shows.
export default { render: () => null };
