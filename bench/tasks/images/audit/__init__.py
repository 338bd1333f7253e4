"""Task `images.audit`: metrics of image quality measured on images that are damaged in known ways."""
